"""Words and rules of Downlink: frozen dataclasses, enums, deciders. Standard library only."""
