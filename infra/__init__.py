"""The stacks that `cdk deploy` puts on AWS, and that `make up` puts on the embedded cloud."""

import os

# At every synth jsii draws a banner on stderr if the Node release is past its support. These releases
# do what we need, and the banner would hide what the CDK itself has to say. Read when jsii starts its
# Node process, so it stands before anything here imports the CDK.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "18,20")
os.environ.setdefault("JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION", "1")
