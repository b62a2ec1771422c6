"""The beginning of every process of the server: settings, logs and spans."""
