"""What an emulated link would have to be like so that recorded runs could have gone over it (docs/link-profiles.md)."""
