/** What to do about each reason for which a sign-in by the identity provider let nobody in. */
export const REFUSALS: Readonly<Record<string, string>> = {
  provider_not_admitted:
    'You are signed in at your institute, but this server admits only certain groups and verified addresses. Ask its admin.',
  provider_name_taken:
    'An account with your user name exists already. If it is yours, sign in with its password and connect it under Access; else ask an admin.',
  provider_connected: 'Your identity at the provider is connected to another account here. Disconnect that one first.',
  provider_connected_otherwise:
    'Your account is connected with another identity at the provider. Disconnect that one under Access, then connect this one.',
  provider_state_wrong: 'This sign-in was started in another browser, was used, or is older than ten minutes. Sign in again.',
  provider_refused: 'The identity provider refused this sign-in: its code was used or has expired. Sign in again.',
  provider_token_invalid:
    'The identity provider’s statement about you is invalid or expired. Sign in again; if that does not help, tell the admin.',
  provider_cancelled: 'The identity provider completed no sign-in. Sign in again.',
  provider_away: 'The identity provider does not answer. Try again in some minutes, or sign in with a password.',
  provider_unfit: 'The identity provider does not fit the settings of this server. Tell its admin.',
  not_set_up: 'This server has no admin yet. Its operator creates the first account with the set-up link.',
}

export const UNKNOWN_REFUSAL = 'The sign-in by the identity provider did not work. Sign in again.'
