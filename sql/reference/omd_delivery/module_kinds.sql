-- The kind of the Modules of agreements, which workers perform. What is a part, as an entity is, is
-- undone here.

INSERT INTO omd.module_kind (module_kind_code, is_batch, act_routine)
VALUES ('DELIVERY', TRUE, 'omd_delivery.next_delivery')
ON CONFLICT (module_kind_code) DO UPDATE SET
    is_batch = excluded.is_batch,
    act_routine = excluded.act_routine;

INSERT INTO omd.room_rollback (module_kind_code, routine) VALUES ('PART', 'omd_delivery.undo_runs')
ON CONFLICT (module_kind_code) DO UPDATE SET routine = excluded.routine;
