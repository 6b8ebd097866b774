-- V162: what a template says is executed, so rows of omd.rollback_template are changed by routines
-- alone, and what rooms have registered for their own Modules stands in omd.room_rollback. Applied
-- once.

REVOKE INSERT, UPDATE, DELETE ON omd.rollback_template FROM omd_admin;
DELETE FROM omd.rollback_template AS t
WHERE
    t.module_id IN (
        SELECT m.module_id FROM omd.module AS m
        WHERE
            m.platform_code = 'POSTGRES'
            AND m.module_kind_code IN ('EXPORT', 'FACTS', 'PART')
    );
