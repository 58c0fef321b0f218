"""PostgreSQL servers for tests: one beside a command, or a primary with its standbys."""
