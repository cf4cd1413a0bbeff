/* Placeholder until the room is written. */
typedef int restride_room_placeholder;
