"""A queue on three hosts, one of which loses its power; see scripts/cluster-demo."""
