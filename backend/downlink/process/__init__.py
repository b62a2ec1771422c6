"""What every process of the server begins with: its settings, logs and spans."""
