"""Publishes sound alone and a picture alone with aiortc, and plays each with an
offer of both. Prints for each how many frames of which kind came: an argument
is the server's port."""

import asyncio
import http.client
import json
import sys

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack

TRACKS = {"audio": AudioStreamTrack, "video": VideoStreamTrack}
ENOUGH, PATIENCE_S = 20, 20


def post(path, offer):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
    connection.request("POST", path, offer, {"Content-Type": "application/sdp"})
    answer = connection.getresponse()
    body = answer.read().decode()
    if answer.status != 201:
        raise RuntimeError(f"{path}: {answer.status} {body}")
    return body


async def connect(peer, path):
    await peer.setLocalDescription(await peer.createOffer())
    answer = await asyncio.to_thread(post, path, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    for _ in range(PATIENCE_S * 10):
        if peer.connectionState == "connected":
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"{path}: {peer.connectionState}")


async def play(kind):
    publisher, player, came = RTCPeerConnection(), RTCPeerConnection(), {}
    publisher.addTrack(TRACKS[kind]())
    await connect(publisher, f"/whip/{kind}?name=van")

    async def count(track):
        while True:
            await track.recv()
            came[track.kind] = came.get(track.kind, 0) + 1

    player.on("track", lambda track: asyncio.ensure_future(count(track)))
    for wanted in TRACKS:
        player.addTransceiver(wanted, direction="recvonly")
    # The room shows the publisher's streams once it is connected.
    await asyncio.sleep(0.5)
    await connect(player, f"/whep/{kind}/van")
    for _ in range(PATIENCE_S * 10):
        if came.get(kind, 0) >= ENOUGH:
            break
        await asyncio.sleep(0.1)
    await asyncio.gather(publisher.close(), player.close())
    return came


async def main():
    results = await asyncio.gather(*map(play, TRACKS))
    print(json.dumps(dict(zip(TRACKS, results))))


asyncio.run(main())
