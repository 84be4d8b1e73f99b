"""The HTTP API's read side: requests of API Gateway's payload format 2.0 in, answers out."""
