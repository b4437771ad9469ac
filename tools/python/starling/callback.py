"""What callbacks of training frameworks have in common: join at the begin, average a torch module in between, leave at the end."""
from __future__ import annotations

from typing import Any

from starling import dp
from starling.group import Error, Group, join


class Averaging:
    """Averages the module of a trainer in every `epochs` epochs.

    `weight`: the number of samples of this learner. `options`: of `starling.join`. Parameters that are not trained
    (`requires_grad` is false) are neither sent nor changed. The rounds of the run end the training, so the trainer must have
    at least as many epochs. If a round is to be trained again, the next epochs do that."""

    def __init__(self, weight: int = 1, epochs: int = 1, **options: Any) -> None:
        self.weight, self.epochs, self.options = weight, epochs, options
        self.group: Group | None = None
        self._since = 0  # epochs since the last mean

    def begin(self, module: Any, processes: int) -> None:
        if processes > 1:
            raise Error(f"a learner is one process, and this trainer has {processes}: train on one device")
        self.group, self._since = join(self._trained(module), **self.options), 0
        dp.refuse_record(self.group, "a callback")

    def epoch(self, module: Any, metrics: dict[str, Any]) -> bool:
        """End an epoch; return true if the run is done."""
        if self.group is None:
            raise Error("the training has not begun")
        self._since += 1
        if self._since < self.epochs:
            return False
        self._since = 0
        numbers = {name: float(value) for name, value in metrics.items()}
        module.load_state_dict(self.group.mean(self._trained(module), weight=self.weight, metrics=numbers), strict=False)
        return self.group.committed >= self.group.rounds

    def end(self) -> None:
        if self.group is not None:
            self.group.close()

    @staticmethod
    def _trained(module: Any) -> dict[str, Any]:
        frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}
        return {name: tensor for name, tensor in module.state_dict().items() if name not in frozen}
