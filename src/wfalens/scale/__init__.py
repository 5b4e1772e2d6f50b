"""Beyond memory: files as blocks, a map over blocks on threads, processes or Ray, and results that merge."""

from wfalens.scale.map_blocks import BlockTask, map_blocks, map_jobs
from wfalens.scale.run_config import RunConfig

__all__ = ["BlockTask", "RunConfig", "map_blocks", "map_jobs"]
