-- What workers do for process control between tasks.

INSERT INTO omd.maintenance (routine, every)
VALUES ('omd.look_at_inputs', interval '10 seconds')
ON CONFLICT (routine) DO UPDATE SET every = excluded.every;
