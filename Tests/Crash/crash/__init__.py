"""A queue whose workers are killed again and again: what must be there at the end."""
