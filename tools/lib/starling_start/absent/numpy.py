"""What `import numpy` finds where numpy is not installed: the help of a command uses no more of it than this name of a type."""
from typing import NoReturn


class ndarray:
    pass


def __getattr__(name: str) -> NoReturn:
    raise ModuleNotFoundError(f"numpy.{name}: numpy is not installed", name="numpy")
