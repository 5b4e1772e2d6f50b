"""The linear kind: an automaton with real weights, trained against the model."""
