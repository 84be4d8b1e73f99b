"""The spectra of novae: found at providers, acquired, validated and recorded."""
