"""Models of known truth are shared with the benchmarks that hold all criteria against them."""

import pathlib
import sys

# Last, since other folders of tests have modules by the names of some that are there.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peers"))
