"""Parameters of an emulated link over which recorded runs could have gone (docs/link-profiles.md)."""
