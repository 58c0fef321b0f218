"""Compares attache with its peers on one machine, in one run."""
