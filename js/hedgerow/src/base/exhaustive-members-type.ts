/**
 * `T`, if `Names` are all of its members. Code that takes options apart, or assembles them, names them here: after `T`
 * gets a new member, that code does not compile until it handles the member.
 */
export type Exactly<T, Names extends MembersOf<T>> = [MembersOf<T>] extends [Names]
  ? T
  : { readonly forgotten: Exclude<MembersOf<T>, Names> };

/** The names of the members of a type; for a union, of all its types. */
export type MembersOf<T> = T extends unknown ? keyof T : never;
