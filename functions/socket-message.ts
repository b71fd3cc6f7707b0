/** `$default`: what a connection says. */
import {socketParts} from './kit/socket.ts';
import {socketHandler} from './kit/socket-handler.ts';
import {receive} from './kit/socket-session.ts';

const parts = socketParts('socket-message');

export const handler = socketHandler(async ({connection, callback, text}) => {
  await receive(await parts(callback), connection, text);
  return {statusCode: 200};
});
