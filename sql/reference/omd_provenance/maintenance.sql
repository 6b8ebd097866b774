-- What workers do for this room between tasks.

INSERT INTO omd.maintenance (routine, every)
VALUES ('omd_provenance.forget_unread', interval '10 seconds')
ON CONFLICT (routine) DO UPDATE SET every = excluded.every;
