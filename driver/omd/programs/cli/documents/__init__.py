"""YAML files of a person, and the calls that they become."""
