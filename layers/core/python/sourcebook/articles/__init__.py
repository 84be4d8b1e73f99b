"""News articles: many sources' word on one story, kept as one record."""
