"""The one room from which the server itself calls other hosts: posts and mails of notifications, a weather service."""
