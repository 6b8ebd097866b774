"""The package: its names are imported on first use."""

import subprocess
import sys

import pytest

import omd


def test_every_public_name_is_there():
    for name in omd.__all__:
        assert getattr(omd, name) is not None, name
    assert set(omd.__all__) <= set(dir(omd))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'omd' has no attribute 'nonsense'"):
        _ = omd.nonsense


def test_import_is_cheap_until_a_name_is_used():
    program = (
        "import sys, omd; assert 'psycopg' not in sys.modules;"
        "from omd import *; assert connect is omd.control.connect"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
