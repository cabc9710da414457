"""Run a management command of this checkout."""

from __future__ import annotations

from summhay_site.command_line import main

if __name__ == "__main__":
    main()
