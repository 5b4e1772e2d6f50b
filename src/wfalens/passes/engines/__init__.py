"""Where passes over a corpus run: in this process, in processes of this machine, or on a Ray cluster."""

from wfalens.passes.engines.choice import ENGINES, open_engine
from wfalens.passes.engines.contract import Done, Engine, Failed, Retry, Task
from wfalens.passes.engines.local import LocalEngine, SerialEngine

__all__ = ["ENGINES", "Done", "Engine", "Failed", "LocalEngine", "Retry", "SerialEngine", "Task", "open_engine"]
