"""An application that answers every POST with nothing, as the api's framework does it: `empty_api.py 8400`."""

from __future__ import annotations

import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from downlink.api.server import connection_class


class Nothing(BaseModel):
    order: None = None


app = FastAPI(openapi_url=None)


@app.post("/")
async def answer() -> Nothing:
    """Answer without a look at anything."""
    return Nothing()


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), http=connection_class(60), log_config=None, access_log=False)
