"""``python -m nomadp`` is the ``nomadp`` command."""

from nomadp.cli import main

if __name__ == "__main__":
    main()
