"""A process of a measured checkout: `python …/bench/inside.py call|serve …` in the folder of that checkout.

`call` reads functions of this package with their arguments, a line of JSON for each, and prints what they return
in the same way; `serve` is gunicorn.
"""

import json
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

if __name__ == "__main__":
    # `bench` is this package whatever the checkout has; all else is the checkout's
    here = Path(__file__).resolve().parent
    spec = spec_from_file_location("bench", here / "__init__.py", submodule_search_locations=[str(here)])
    assert spec is not None  # noqa: S101 - the file is there
    sys.modules["bench"], sys.path[0] = module_from_spec(spec), os.getcwd()
    if sys.argv.pop(1) == "serve":
        import_module("gunicorn.app.wsgiapp").run()
    else:
        told, sys.stdout = sys.stdout, sys.stderr  # whatever a function prints is no answer
        import_module("django").setup()
        for line in sys.stdin:
            job = json.loads(line)
            function = getattr(import_module(job["module"]), job["function"])
            print(json.dumps(function(*job["arguments"])), file=told, flush=True)
            import_module("django.db").connections.close_all()
