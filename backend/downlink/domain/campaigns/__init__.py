"""Campaigns, their plans and what they keep."""
