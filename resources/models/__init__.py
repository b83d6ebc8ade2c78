"""Models behind the roles that `pipelines` declares, one adapter a file, imported when a profile chooses it."""

import os

# onnxruntime, from 1.29 on, tells its maker of each session and keeps a number for the machine in the user's folder. It
# looks at this variable once, when it is loaded, so it is set before any adapter can load it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
