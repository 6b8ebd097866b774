-- What workers do for this room between tasks.

INSERT INTO omd.maintenance (routine, every)
VALUES ('omd_decision.declare_missing', interval '1 minute')
ON CONFLICT (routine) DO UPDATE SET every = excluded.every;
