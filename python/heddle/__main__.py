# SPDX-License-Identifier: MIT
"""``python -m heddle`` is the command."""

from ._command import main

main()
