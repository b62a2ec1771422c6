"""Accounts, access and sharing."""
