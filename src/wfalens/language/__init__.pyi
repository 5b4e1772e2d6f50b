from .probability import Language as Language
from .probability import log_probability as log_probability
from .probability import most_likely as most_likely
from .probability import perplexity as perplexity
from .probability import sample as sample
