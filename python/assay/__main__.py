"""`python -m assay`: the `assay` command."""

from ._command import main

main()
