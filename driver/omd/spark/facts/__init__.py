"""Facts on Spark: exports (docs/explanation/facts.md)."""
