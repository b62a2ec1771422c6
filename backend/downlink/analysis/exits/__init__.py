"""Slow-start exits: detectors replayed over the ACKs of a flow. One module per family; `panel` runs them all."""
