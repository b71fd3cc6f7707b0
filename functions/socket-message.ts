/** `$default`: what a connection says. */
import {socketHandler, socketParts} from './kit/socket.ts';
import {receive} from './kit/socket-session.ts';

const parts = socketParts('socket-message');

export const handler = socketHandler(async ({connection, callback, text}) => {
  await receive(await parts(callback), connection, text);
  return {statusCode: 200};
});
