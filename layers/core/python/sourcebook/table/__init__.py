"""The single DynamoDB table: keys, item encoding, client and paging."""
