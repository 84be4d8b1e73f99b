"""The services that know of novae, each behind the same few words."""
