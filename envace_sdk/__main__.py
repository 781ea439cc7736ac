"""`python -m envace_sdk`."""

from envace_sdk.cli.main import main

if __name__ == "__main__":
    main()
