"""attache beside its peers, on one machine, in one run."""
