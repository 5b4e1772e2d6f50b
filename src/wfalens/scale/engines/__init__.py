"""Where passes over a corpus run: in this process, in processes of this machine, or on a Ray cluster."""

from wfalens.scale.engines.engine import Done, Engine, Failed, Retry, Task
from wfalens.scale.engines.engine_choice import ENGINES, open_engine
from wfalens.scale.engines.local import LocalEngine, SerialEngine

__all__ = ["ENGINES", "Done", "Engine", "Failed", "LocalEngine", "Retry", "SerialEngine", "Task", "open_engine"]
