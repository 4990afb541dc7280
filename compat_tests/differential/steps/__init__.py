"""The steps of the script; `compat_tests.differential.script` says in which order."""
