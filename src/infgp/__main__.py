"""The command ``infgp``, and ``python -m infgp``, which is the same where its script is not on the path."""

import sys

#: Exit code after Ctrl-C: 128 and the number of SIGINT.
INTERRUPTED = 130


def main() -> int:
    """Entry point of the command ``infgp``: Ctrl-C while it is still being loaded ends it without a traceback."""
    try:
        from infgp.app import cli
    except KeyboardInterrupt:
        return INTERRUPTED
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
