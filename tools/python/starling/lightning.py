"""Average a model of Lightning at the end of epochs:

    import lightning
    import starling.lightning

    average = starling.lightning.Average(weight=len(data))
    trainer = lightning.Trainer(max_epochs=-1, devices=1, callbacks=[average])
    trainer.fit(model, loader)

One script like this runs at each learner, with its own data. The run ends the training: `max_epochs=-1` sets no other end. The
metrics that the model logs go to the log of the learner.
"""
from __future__ import annotations

from typing import Any

from starling.callback import Averaging

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    try:
        from pytorch_lightning.callbacks import Callback
    except ImportError:
        Callback = object


class Average(Averaging, Callback):
    """A callback of lightning.Trainer; arguments: see starling.callback.Averaging."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.begin(pl_module, getattr(trainer, "world_size", 1))

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if self.epoch(pl_module, trainer.callback_metrics):
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.end()
