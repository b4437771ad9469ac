"""Average a model of the Hugging Face trainer at the end of epochs:

    import transformers
    import starling.transformers

    average = starling.transformers.Average(weight=len(data))
    arguments = transformers.TrainingArguments("out", num_train_epochs=1000)
    transformers.Trainer(model, arguments, train_dataset=data, callbacks=[average]).train()

One script like this runs at each learner, with its own data. The run ends the training: let it have more epochs than the run
has rounds. Only what is trained is averaged: of a model with adapters (PEFT) these alone. The loss that the trainer logs goes
to the log of the learner.
"""
from __future__ import annotations

from typing import Any

from starling.callback import Averaging

try:
    from transformers import TrainerCallback
except ImportError:
    TrainerCallback = object


class Average(Averaging, TrainerCallback):
    """A callback of transformers.Trainer; arguments: see starling.callback.Averaging."""

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **rest: Any) -> None:
        self.begin(model, getattr(args, "world_size", 1))

    def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, **rest: Any) -> None:
        losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
        if self.epoch(model, {"loss": losses[-1]} if losses else {}):
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        self.end()
