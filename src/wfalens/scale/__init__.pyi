from .map_blocks import BlockTask as BlockTask
from .map_blocks import map_jobs as map_jobs
from .run_config import RunConfig as RunConfig
