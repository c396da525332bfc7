// WHEP server in front of a Galene group, because Galene has none: the viewer of the interop
// tests.
//
//   node --experimental-websocket galene.mjs ws://HOST:PORT/ws GROUP PORT

import { once } from 'node:events';
import { createServer } from 'node:http';

/** Galene sends candidates one by one, without an end-of-candidates signal. */
const GATHERING_MS = 500;

const [galene, group, port] = process.argv.slice(2);
/** The viewer; a new one replaces it. */
let viewer;

/** Joins the group and resolves with the first offer and its candidates. */
function join() {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(galene);
    const send = (message) => socket.send(JSON.stringify(message));
    const candidates = [];
    viewer = { socket, send, id: undefined };
    socket.onerror = () => reject(new Error('Galene is not there'));
    socket.onopen = () => {
      send({ type: 'handshake', version: ['2'], id: 'viewer' });
      send({ type: 'join', kind: 'join', group, username: 'viewer', password: '' });
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === 'ping') send({ type: 'pong' });
      if (message.type === 'joined' && message.kind === 'fail') reject(new Error(message.value));
      if (message.type === 'joined' && message.kind === 'join') send({ type: 'request', request: { '': ['audio', 'video'] } });
      if (message.type === 'ice' && message.id === viewer.id) candidates.push(`a=${message.candidate.candidate}\r\n`);
      if (message.type !== 'offer' || viewer.id !== undefined) return;
      viewer.id = message.id;
      setTimeout(() => resolve(message.sdp + candidates.join('')), GATHERING_MS);
    };
  });
}

createServer(async (request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  await once(request, 'end');
  const answer = (status, text = '') => response.writeHead(status, { location: '/stream', 'content-type': 'application/sdp' }).end(text);
  if (request.method === 'POST') {
    viewer?.socket.close();
    // Galene makes the offer.
    return join().then((offer) => answer(406, offer), (error) => answer(503, error.message));
  }
  if (request.method === 'PATCH') viewer.send({ type: 'answer', id: viewer.id, sdp: body });
  if (request.method === 'DELETE') viewer.socket.close();
  answer(204);
}).listen(Number(port), '127.0.0.1');
