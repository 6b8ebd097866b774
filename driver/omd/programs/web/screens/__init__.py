"""The screens: each module has a function ``screen``, which says what one URL shows."""
